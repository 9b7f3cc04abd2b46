# Fixed by https://github.com/kubernetes/autoscaler/pull/9298, first in 1.36.0.

@cluster-autoscaler @clusterapi @issue-9298
Feature: An empty group whose machines taint their nodes is not scaled for pods that do not tolerate that

  From Cluster API v1.12 on a MachineDeployment can say itself which taints the nodes
  of its machines have.

  @clusterapi-9298-taints-of-machines
  Scenario: The first choice has no machine, and taints
    Given a cluster
    And Cluster API v1.12.0 that lets machines taint their Nodes
    And these node groups:
      | name  | min | max |
      | first | 0   | 3   |
    And "MachineDeployment/first" is patched with:
      """
      spec:
        template:
          spec:
            taints: [{key: dedicated, value: gpu, effect: NoSchedule, propagation: Always}]
      """
    And a MachineDeployment "second" of 1 to 4 machines, 1 of them Running
    And a pod "a" that requests 3 CPU is Running
    And Cluster Autoscaler that prefers the MachineDeployment "first" to "second"
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 10m
    And 1m from now, the autoscaler has not scaled the MachineDeployment "first" since the start
