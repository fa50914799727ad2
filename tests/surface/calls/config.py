"""Calls of lazyarray/_config.py."""

CALLS = {"show_config": ["xp.show_config()", "xp.show_config(mode='stdout')"]}
