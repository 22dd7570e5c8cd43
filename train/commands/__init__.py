"""The subcommands of `memenvs`, one a file; each imports what it needs when it runs."""
