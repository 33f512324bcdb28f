"""How workspaces let the app in, and what is kept of them."""
