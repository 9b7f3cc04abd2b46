# https://github.com/kubernetes/autoscaler/issues/7928
# https://github.com/kubernetes/autoscaler/issues/7976
# Fixed by https://github.com/kubernetes/autoscaler/pull/7929 and
# https://github.com/kubernetes/autoscaler/pull/7950, first in 1.33.0.

@cluster-autoscaler @clusterapi @issue-7928
Feature: Machines that never become nodes stop nothing but their own group

  Background:
    Given a cluster
    And Cluster API v1.9.5
    And these node groups:
      | name   | min | max | type  |
      | first  | 1   | 4   | cpx31 |
      | second | 1   | 4   | cpx41 |
    And a pod "a" that requests 7 CPU is Running
    And a pod "b" that requests 3 CPU is Running
    And Cluster Autoscaler that prefers the MachineDeployment "first" to "second"

  @clusterapi-7928-machines-without-node
  Scenario: An operator pauses a MachineDeployment whose machine is stuck in Provisioning

    The health check replaces machines without a node after ten minutes, which is its
    default, before Cluster Autoscaler gives them up after its default of fifteen: none
    of them is ever old enough for it.

    Given every machine of the MachineDeployment "first" is stuck in Provisioning
    And a MachineHealthCheck that replaces machines of "first" that have no Node after 10m
    When a pod "small" that requests 3 CPU is created
    And the scenario waits for 1m
    And "MachineDeployment/first" is annotated "cluster.x-k8s.io/paused="
    And a pod "another" that requests 3 CPU is created
    And the scenario waits for 20m
    And a pod "large" that requests 6 CPU is created
    Then the autoscaler scales the MachineDeployment "second" within 2m
    And the pod "large" is Running within 10m

  @issue-7976 @clusterapi-7976-failed-after-provider-id
  Scenario: The cloud takes an instance back once its machine has a provider ID
    Given every machine of the MachineDeployment "first" gets a provider ID and is lost before it joins
    When a pod "small" that requests 3 CPU is created
    Then the pod "small" is Running within 10m
