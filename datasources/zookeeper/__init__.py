"""The topology in ZooKeeper."""

from datasources.zookeeper.topology import ZooKeeperTopology

__all__ = ["ZooKeeperTopology"]
