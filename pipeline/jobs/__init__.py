"""Scheduled jobs: what to read, when, and what became of it.

- `job`: one job as its owner writes it; `jobfile`: many of them in a file under version control
- `trigger`: when a schedule fires, clock arithmetic alone
- `due`: the clock and a job's row -> what is to be run now, as a pure function
- `tables`, `store`: jobs, runs, snapshots and what is still to be delivered, in SQLite or PostgreSQL
- `changes`, `drift`: what changed on a page, and what speaks for a page whose layout changed
- `running`, `worker`: one run from claim to end; the loop that never stops
- `notify`: who is told
"""
