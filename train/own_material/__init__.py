"""From documents and questions to a material: reading, cutting into claims, linking."""
