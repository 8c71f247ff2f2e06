"""A page that is too long to be read at once -> parts that are not, and one record from what was read in them."""
