# https://github.com/kubernetes/autoscaler/issues/4942

@cluster-autoscaler @clusterapi @issue-4942
Feature: A group that is smaller than its minimum can grow

  Background:
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 8 machines, 2 of them Running
    And a pod "a" that requests 3 CPU is Running
    And a pod "b" that requests 3 CPU is Running
    And "MachineDeployment/workers" is annotated "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size=6"

  @clusterapi-4942-minimum-raised
  Scenario: The minimum is six, there are two, and a pod needs a third
    Given Cluster Autoscaler
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 10m

  @clusterapi-4942-minimum-enforced
  Scenario: The minimum is six, there are two, and minimum sizes are enforced
    Given Cluster Autoscaler with the flags:
      | --enforce-node-group-min-size | true |
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 10m
