"""The memorization environment: claims arrive, few are kept, queries settle the account."""
