"""What the text-speaking draft sources reason with: page, schema and record so far -> what may be written next."""
