"""Real MiniWoB++ pages in a headless browser, and a recording of what they showed."""
