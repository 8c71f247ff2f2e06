"""What a page says about itself in machine form -> a guess of its record, and where page and guess disagree."""
