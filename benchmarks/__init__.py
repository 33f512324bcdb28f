"""What is measured, and beside what. Figures are printed; nothing is asserted by time."""
