# https://github.com/kubernetes/autoscaler/issues/10318

@cluster-autoscaler @clusterapi @issue-10318
Feature: The autoscaler does not revert what another client has requested of a MachineDeployment

  @clusterapi-10318-overwritten
  Scenario: Another client scales it while the autoscaler's own write is on its way
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 6 machines, 1 of them Running
    And a pod "a" that requests 3 CPU is Running
    And Cluster Autoscaler
    When the first call "update,patch machinedeployments.cluster.x-k8s.io/scale" of the program "cluster-autoscaler" is delayed by 20s
    And a pod "web" that requests 3 CPU is created
    And "MachineDeployment/workers" is scaled to 5 once "fault" has recorded "matched" of "machinedeployments.cluster.x-k8s.io"
    Then the MachineDeployment "workers" has 5 Running machines within 5m
