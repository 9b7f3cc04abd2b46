# Changed by https://github.com/kubernetes-sigs/karpenter/pull/2421, first in v1.7.0.

@karpenter @issue-2421
Feature: The count of drained pods is there after an upgrade under the name that dashboards have

  @karpenter-2421-drained-pods
  Scenario: A pod is drained after an upgrade
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the release before the target runs in its place until it is upgraded
    And Karpenter with a NodePool "default"
    And the metric "karpenter_pods_pods_drained_total" of the target is recorded
    And the metric "karpenter_pods_drained_total" of the target is recorded
    When a Deployment "web" of 1 pod that requests 3 CPU is created
    Then every pod is Running within 2m
    When the target is upgraded
    And "NodeClaim/$name" is deleted once "karpenter" has ever sent "create" of "nodeclaims"
    Then this holds within 3m:
      """
      happens: {source: harness, verb: measured, resource: metrics, name: karpenter_pods_pods_drained_total}
      """
    And this holds within 10s:
      """
      never: {source: harness, verb: measured, resource: metrics, name: karpenter_pods_drained_total}
      ever: true
      """
