# Asked for by https://github.com/aws/karpenter-provider-aws/issues/4403.

@karpenter @issue-4403
Feature: An upgrade changes nothing about machines that are as they should be

  @karpenter-4403-upgraded
  Scenario: Karpenter is upgraded, rolled back, and upgraded by one release
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the release v1.6.4 runs in place of the target until it is upgraded
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 6
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then every pod is Running within 5m
    When the target is upgraded
    Then "karpenter" never sends "delete" of "nodeclaims" within 6m
    When the target is rolled back
    Then "karpenter" never sends "delete" of "nodeclaims" within 6m
    When the target is upgraded to v1.7.0
    Then "karpenter" never sends "delete" of "nodeclaims" within 6m
    And every pod is Running within 1m
