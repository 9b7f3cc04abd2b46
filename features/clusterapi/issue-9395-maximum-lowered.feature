# https://github.com/kubernetes/autoscaler/issues/9395

@cluster-autoscaler @clusterapi @issue-9395
Feature: A group that is larger than its maximum can shrink

  @clusterapi-9395-maximum-lowered
  Scenario: A user lowers the maximum below what is there
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 5 machines, 5 of them Running
    And a pod "a" that requests 3 CPU is Running
    And Cluster Autoscaler
    When "MachineDeployment/workers" is annotated "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size=3"
    Then the autoscaler scales the MachineDeployment "workers" within 30m
