"""The topology and the operators' switches, in ZooKeeper."""

from datasources.zookeeper.operations import ZooKeeperOperations
from datasources.zookeeper.switches import ZooKeeperSwitches
from datasources.zookeeper.topology import ZooKeeperTopology

__all__ = ["ZooKeeperOperations", "ZooKeeperSwitches", "ZooKeeperTopology"]
