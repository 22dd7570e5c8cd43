"""Pictures and text of a running episode; ``Renderer`` serves an environment's render modes."""
