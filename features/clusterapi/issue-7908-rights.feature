# A consequence of https://github.com/kubernetes/autoscaler/pull/7908, first in 1.33.0.

@cluster-autoscaler @clusterapi @issue-7908
Feature: An upgrade scales with the rights that the last release had

  The example of Cluster Autoscaler for Cluster API granted get, list, update and
  watch on MachineDeployments and their scale until August 2026.

  @clusterapi-7908-rights-without-patch
  Scenario: Rights as the example had them
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "first" of 1 to 4 machines, 1 of them Running
    And a MachineDeployment "second" of 1 to 4 machines, 1 of them Running
    And a pod "a" that requests 3 CPU is Running
    And a pod "b" that requests 3 CPU is Running
    And Cluster Autoscaler that prefers the MachineDeployment "first" to "second"
    And "ClusterRole/cluster-autoscaler-management" is patched with:
      """
      - {op: replace, path: /rules/0/verbs, value: [get, list, update, watch]}
      """
    When a pod "web" that requests 3 CPU is created
    Then the autoscaler scales the MachineDeployment "first" within 5m
    And the pod "web" is Running within 10m
