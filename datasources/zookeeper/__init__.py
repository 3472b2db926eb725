"""The topology, and what people switch, in ZooKeeper."""

from datasources.zookeeper.switches import ZooKeeperSwitches
from datasources.zookeeper.topology import ZooKeeperTopology

__all__ = ["ZooKeeperSwitches", "ZooKeeperTopology"]
