# Left by https://github.com/kubernetes/autoscaler/pull/9132, first in 1.36.0.

@cluster-autoscaler @externalgrpc @issue-9132
Feature: Of a scale-up that times out what is missing is taken back, and no more

  Background:
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name  | type   | min | max |
      | best  | medium | 0   | 5   |
      | other | large  | 0   | 5   |

  @externalgrpc-9132-whole-increase
  Scenario: Two of three instances come, and the cloud owes one
    Given the third instance of the group "best" counts towards its group's target size, but is not created
    And Cluster Autoscaler with the flags:
      | --max-node-provision-time | 5m |
    When a Deployment "web" of 3 pods that request 3 CPU is created
    Then this holds within 12m:
      """
      happens: {source: cloud, verb: target, resource: nodegroups, name: best, detail: {from: 3, to: 2}}
      """
    And this holds within 1m:
      """
      never: {source: cloud, verb: NodeGroupDecreaseTargetSize, name: best, code: 400}
      ever: true
      """
