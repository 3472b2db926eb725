-- What the gateway may do on a pair of MariaDB servers: everything in its shards, nothing else.
GRANT ALL PRIVILEGES ON `db%`.* TO 'pinway'@'%';
GRANT ALL PRIVILEGES ON `mod%`.* TO 'pinway'@'%';
