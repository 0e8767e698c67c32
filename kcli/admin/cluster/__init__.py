"""The cluster as a whole: brokers, quorum, features, versions, leader elections."""
