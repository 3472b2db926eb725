"""What operators ask of a gateway and its stores: backups, checks, plans."""
