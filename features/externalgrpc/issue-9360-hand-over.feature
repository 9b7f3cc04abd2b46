# Left by https://github.com/kubernetes/autoscaler/pull/9132 and https://github.com/kubernetes/autoscaler/pull/9360.

@cluster-autoscaler @externalgrpc @issue-9360
Feature: The second of two replicas counts on the machines that the first has asked for

  @externalgrpc-9360-hand-over
  Scenario: The leader of two replicas is killed while a machine boots for a pod
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type   | min | max |
      | best | medium | 0   | 5   |
    And the target has 2 replicas
    And Cluster Autoscaler with the flags:
      | --leader-elect | true |
    When a pod "web" that requests 3 CPU is created
    And the leader of the target is killed once "cloud" has recorded "NodeGroupIncreaseSize" of "nodegroups" "best"
    Then the pod "web" is Running within 10m
    And 5m from now, the group "best" has had an instance since the start, and at no time a target size above 1
