"""Slack's Web API: called within its limits, its refusals in our words."""
