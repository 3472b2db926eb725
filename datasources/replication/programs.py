"""MariaDB's own programs that make and restore backups, and the Debian packages that have them."""

BACKUP, BINLOG, CLIENT = "mariadb-backup", "mariadb-binlog", "mariadb"
PACKAGES = {BACKUP: "mariadb-backup", BINLOG: "mariadb-client", CLIENT: "mariadb-client-core"}
