"""Reading other people's websites: which addresses may be asked, how, and what is kept."""
