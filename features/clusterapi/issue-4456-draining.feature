# https://github.com/kubernetes/autoscaler/issues/4456
# Fixed by https://github.com/kubernetes/autoscaler/pull/6708 and
# https://github.com/kubernetes/autoscaler/pull/6776, first in 1.31.0.

@cluster-autoscaler @clusterapi @issue-4456
Feature: A pod that comes while a node is drained gets a node of its own

  @clusterapi-4456-draining
  Scenario: A node is drained slowly, and a pod comes that fits nowhere else
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 4 machines, 2 of them Running
    And a pod "a" that requests 3 CPU is Running
    And a Deployment "slow" of 1 pod that requests 500m CPU and takes 9m to stop is Running
    And Cluster Autoscaler for Cluster API
    When a pod "web" that requests 3 CPU is created once the autoscaler drains a node
    Then the pod "web" is Running within 7m
