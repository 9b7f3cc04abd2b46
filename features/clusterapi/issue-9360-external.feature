# Since https://github.com/kubernetes/autoscaler/pull/9360, first in 1.36.0.

@cluster-autoscaler @clusterapi @issue-9360
Feature: A machine that is on its way is counted on, whichever client asked for it

  @clusterapi-9360-bought-twice
  Scenario: Another client scales the group, and a moment later there is a pod for the new machine
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 5 machines, 1 of them Running
    And a pod "a" that requests 3 CPU is Running
    And Cluster Autoscaler
    When "MachineDeployment/workers" is scaled to 2
    And a pod "web" that requests 3 CPU is created
    Then 5m from now, the autoscaler has not scaled the MachineDeployment "workers" since the start
    And the pod "web" is Running within 10m
