"""The memories people use today, as write policies over observations: one file a family."""
