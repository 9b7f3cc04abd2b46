# Left by https://github.com/kubernetes/autoscaler/pull/9360, first in 1.36.0.

@cluster-autoscaler @externalgrpc @issue-9360
Feature: A node that is still starting is not deleted as one that is not needed

  @externalgrpc-9360-starting-node
  Scenario: Of two instances one cannot be had, and the node of the other one takes its time
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type   | min | max |
      | best | medium | 0   | 5   |
    And these faults:
      """
      faults:
      - name: out of stock
        match: {operation: create_server, instance: best-2}
        actionFails: {after: 20s, code: resource_unavailable, message: none left}
      """
    And the first new simulated node is NotReady, for 8m
    And Cluster Autoscaler with the flags:
      | --scale-down-delay-after-add | 1m |
      | --scale-down-unready-time    | 2m |
    When a Deployment "web" of 2 pods that request 3 CPU is created
    Then a pod of the Deployment "web" is Running within 12m
    And this holds within 1m:
      """
      never: {source: api, verb: [create, patch], resource: events, actor: cluster-autoscaler, detail: {reason: ScaleDownEmpty}}
      ever: true
      """
