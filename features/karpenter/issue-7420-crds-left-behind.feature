# See https://github.com/aws/karpenter-provider-aws/issues/7420.

@karpenter @issue-7420
Feature: Karpenter comes to rest after an upgrade

  Helm installs the CRDs of a chart's folder crds and never upgrades them: they have to be brought on their own.

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the release v1.6.4 runs in place of the target until it is upgraded
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 2m

  @karpenter-7420-crds-left-behind
  Scenario: The CRDs are left behind
    When the target is upgraded, and its CRDs are left behind
    And the scenario waits for 1m
    Then this holds within 2m:
      """
      count: {source: api, verb: patch, resource: nodepools, actor: karpenter, detail: {subresource: status}}
      atMost: 5
      """

  @karpenter-7420-crds-upgraded
  Scenario: The CRDs are upgraded
    When the target is upgraded
    And the scenario waits for 1m
    Then this holds within 2m:
      """
      count: {source: api, verb: patch, resource: nodepools, actor: karpenter, detail: {subresource: status}}
      atMost: 5
      """
