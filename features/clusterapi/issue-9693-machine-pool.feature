# https://github.com/kubernetes/autoscaler/pull/9693, in no release up to 1.36.1.

@cluster-autoscaler @clusterapi @issue-9693
Feature: A node that is not needed goes, or is said to stay

  @clusterapi-9693-machine-pool
  Scenario: There is no Machine for any node of a MachinePool, which Cluster API leaves to its provider
    Given a cluster
    And Cluster API v1.9.5
    And a MachinePool "pool" of 1 to 4 instances, 2 of them Running
    And a pod "a" that requests 3 CPU is Running
    And Cluster Autoscaler for Cluster API
    When 1m pass
    Then the autoscaler scales the MachinePool "pool" within 30m

  @clusterapi-9693-reported-removed
  Scenario: Somebody mistypes the group's maximum in the moment in which its machine is to go
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 4 machines, 2 of them Running
    And a pod "a" that requests 3 CPU is Running
    And somebody mistypes the maximum of the MachineDeployment "workers" while the autoscaler reads its scale to delete a machine
    And Cluster Autoscaler for Cluster API
    When 10m pass
    Then the autoscaler reports no node as removed for 5m without scaling the MachineDeployment "workers"
