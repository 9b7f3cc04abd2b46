# https://github.com/kubernetes/autoscaler/pull/9132 and https://github.com/kubernetes/autoscaler/pull/9360, first in 1.36.0.

@cluster-autoscaler @clusterapi
Feature: Nodes that were asked for and never came are not counted on

  The first choice is an empty group that makes no machine: its template is missing.

  Background:
    Given a cluster
    And Cluster API v1.9.5
    And these node groups:
      | name   | min | max |
      | first  | 0   | 3   |
      | second | 1   | 3   |
    And a pod "a" that requests 3 CPU is Running
    And Cluster Autoscaler that prefers the MachineDeployment "first" to "second"
    And "MachineDeployment/first" is patched with:
      """
      spec: {template: {spec: {infrastructureRef: {name: missing}}}}
      """

  @issue-9132 @clusterapi-9132-not-reverted
  Scenario: The pod is gone when the group has its template
    When a pod "web" that requests 3 CPU is created
    And the scenario waits for 17m
    And "Pod/web" is deleted
    And the scenario waits for 3m
    And the MachineDeployment "first" changes to instances of the type "cpx31"
    Then 3m from now, the MachineDeployment "first" has 0 machines

  @issue-9360 @clusterapi-9360-hidden-pods
  Scenario: The pod waits, and the other group has room
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 30m
