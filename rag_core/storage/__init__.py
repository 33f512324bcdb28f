"""One schema, two engines: SQLite and PostgreSQL."""
