"""The cost of telemetry: what metrics, logs and traces add to a request, and what they cost when
they are off."""
