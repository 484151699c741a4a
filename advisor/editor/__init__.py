"""`kafka-advisor lsp`: findings, facts and fixes for an editor, of texts as they are typed."""
