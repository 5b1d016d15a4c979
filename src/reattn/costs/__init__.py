"""What a model costs, from its settings alone: no model is built, torch not loaded."""
