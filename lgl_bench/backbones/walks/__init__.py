"""How an epoch walks over the training graph: whole, by sampled neighbourhoods, or by drawn vertices.

A backbone says how in `batches`. That is called once per fit with the `TrainingData`, prepares what the fit needs, and
returns the `Epoch`: a function that is called once per epoch and yields the loss of each step.
"""
