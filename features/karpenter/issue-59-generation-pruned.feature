# See https://github.com/kubernetes-sigs/karpenter-provider-cluster-api/pull/59.

@karpenter @issue-59
Feature: A NodePool whose machines register is healthy after an upgrade

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the release v1.0.6 runs in place of the target until it is upgraded

  # As the CRDs of a provider without the conversion: those of the chart for kwok know its labels, too, and refuse newer ones.
  @karpenter-59-generation-pruned
  Scenario: The CRDs are left behind
    Given the target has the environment variables:
      | DISABLE_WEBHOOK | true |
    And Karpenter with a NodePool "default"
    When the target is upgraded, and its CRDs are left behind
    And a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 2m
    And this holds within 1m:
      """
      never: {source: api, verb: [create, patch], resource: events, actor: karpenter,
        detail: {about: NodePool/default, message: {contains: "NodeRegistrationHealthy, Status: True -> Unknown"}}}
      ever: true
      """

  @karpenter-59-crds-upgraded
  Scenario: The CRDs are upgraded
    Given Karpenter with a NodePool "default"
    When the target is upgraded
    And a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 2m
    And this holds within 1m:
      """
      never: {source: api, verb: [create, patch], resource: events, actor: karpenter,
        detail: {about: NodePool/default, message: {contains: "NodeRegistrationHealthy, Status: True -> Unknown"}}}
      ever: true
      """
