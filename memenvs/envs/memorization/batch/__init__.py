"""The batch of episodes in array operations, behind the native vector environment."""
