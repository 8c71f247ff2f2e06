"""The ledger's tables. JSON is kept as text: it comes back as it was, in any database."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

runs = sa.Table(
    "batch_runs",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("schema", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("json_schema", sa.Text, nullable=False),
    sa.Column("sink", sa.Text, nullable=False),
    sa.Column("flags", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("started_at", sa.String(40), nullable=False),
    sa.Column("finished_at", sa.String(40)),
    sa.Column("position", sa.Text, nullable=False),
    sa.Column("owner", sa.Text),
)

pages = sa.Table(
    "batch_pages",
    metadata,
    sa.Column("run", sa.String(32), sa.ForeignKey("batch_runs.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("line", sa.Integer),
    sa.Column("via", sa.Text),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("error_kind", sa.Text),
    sa.Column("error", sa.Text),
)

results = sa.Table(
    "batch_results",
    metadata,
    sa.Column("run", sa.String(32), primary_key=True),
    sa.Column("page", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("at", sa.String(40), nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("evidence", sa.Text, nullable=False),
    sa.Column("meta", sa.Text, nullable=False),
    sa.Column("delivered", sa.Boolean, nullable=False),
    sa.Column("prompt_tokens", sa.BigInteger, nullable=False),
    sa.Column("new_tokens", sa.BigInteger, nullable=False),
    sa.Column("forwards", sa.BigInteger, nullable=False),
    sa.Column("fetch_s", sa.Double, nullable=False),
    sa.Column("read_s", sa.Double, nullable=False),
    sa.ForeignKeyConstraint(["run", "page"], ["batch_pages.run", "batch_pages.number"]),
    sa.Index("batch_results_undelivered", "run", "delivered"),
)
