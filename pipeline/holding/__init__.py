"""What a page offers for each field, and the grammar that fields cannot leave; no model.

- `items`, `whole_lists`: blocks that are one thing to a person
- `field_names`, `bylines`, `addresses`: what the page itself says to be a field's value
- `offers`: all that, by kind of field, as JSON text
- `grammar`: a schema and the offers -> the grammar of one page
"""
