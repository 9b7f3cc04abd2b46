# https://github.com/kubernetes/autoscaler/issues/7663, and https://github.com/lablabs/terraform-aws-eks-cluster-autoscaler/issues/36

@cluster-autoscaler @externalgrpc @issue-7663
Feature: An upgraded autoscaler scales

  The chart has a right on volume attachments since 1.33; 1.32 complains, and scales without it.

  Background:
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type   | min | max |
      | best | medium | 0   | 5   |
    And the release 1.32.5 runs in place of the target until it is upgraded
    And Cluster Autoscaler
    And a pod "web" that requests 3 CPU is Running

  @externalgrpc-7663-roles-left-behind
  Scenario: The roles are left behind
    When the target is upgraded, and its roles are left behind
    And a pod "later" that requests 3 CPU is created
    Then the pod "later" is Running within 20m

  @externalgrpc-7663-roles-upgraded
  Scenario: The roles are upgraded
    When the target is upgraded
    And a pod "later" that requests 3 CPU is created
    Then the pod "later" is Running within 20m
