# What a machine without a node counts as came with https://github.com/kubernetes/autoscaler/pull/7977, first in 1.33.0.

@cluster-autoscaler @clusterapi @issue-7977
Feature: A machine whose node is Ready is not deleted as one that never joined

  Cluster API writes down in the status of a Machine which Node is its own. Until it has, the
  autoscaler takes the machine for one without a node, though the Node with its provider ID is Ready.

  @clusterapi-7977-no-node-ref
  Scenario: Cluster API cannot write the status of machines for a while, and a machine joins in that time
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 3 machines, 1 of them Running
    And a pod "a" that requests 3 CPU is Running
    And Cluster Autoscaler
    When a pod "web" that requests 3 CPU is created
    And the scenario waits for 5s once "cloud" has recorded "running" of "instances"
    And every call "update,patch machines.cluster.x-k8s.io/status" of the program "cluster-api" is answered with 500, for 25m
    Then the pod "web" is Running within 5m
    And 25m from now, a machine has been created since the start, and none has been deleted
