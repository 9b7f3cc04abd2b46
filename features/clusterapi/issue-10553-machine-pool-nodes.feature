# For how long Nodes of a MachinePool are deleted came with https://github.com/kubernetes-sigs/cluster-api/pull/10553.

@cluster-api @clusterapi @issue-10553
Feature: With a MachinePool go its Nodes

  # Its instances are gone after seconds, so that the ten of the timeout are not over.
  @clusterapi-10553-machine-pool-nodes
  Scenario: A MachinePool is deleted, and nothing else looks after its Nodes
    Given a cluster
    And Cluster API
    And a MachinePool "pool" with 2 Running instances
    When "MachinePool/pool" is deleted
    Then "cluster-api" has sent "delete" of "nodes" at least 2 times within 10m
