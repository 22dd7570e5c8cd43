"""Training: what is trained is data, a run is a folder, and a folder can be gone on with."""
