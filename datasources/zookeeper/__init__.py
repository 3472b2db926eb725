"""The topology, the operators' switches and the caches' generations, in ZooKeeper."""

from datasources.zookeeper.generations import ZooKeeperGenerations
from datasources.zookeeper.operations import ZooKeeperOperations
from datasources.zookeeper.switches import ZooKeeperSwitches
from datasources.zookeeper.topology import ZooKeeperTopology

__all__ = ["ZooKeeperGenerations", "ZooKeeperOperations", "ZooKeeperSwitches", "ZooKeeperTopology"]
