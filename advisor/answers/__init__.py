"""Guarantees that are answered by the timeline, the log, the groups or by arithmetic: one family a module.

Beside decode the only place where configuration keys meet the simulator. Each module has
`judge(deployment, context)` behind a guarantee that `plugins/models` names.
"""
