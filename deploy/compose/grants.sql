-- What the gateway may do on a pair of MariaDB servers: everything in its shards, and
-- see how far a slave is behind.
GRANT ALL PRIVILEGES ON `db%`.* TO 'pinway'@'%';
GRANT ALL PRIVILEGES ON `mod%`.* TO 'pinway'@'%';
GRANT REPLICA MONITOR ON *.* TO 'pinway'@'%';
