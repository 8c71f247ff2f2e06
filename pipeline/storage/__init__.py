"""What outlives a process, in SQLite or PostgreSQL."""
