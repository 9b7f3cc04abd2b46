# https://github.com/kubernetes-sigs/karpenter/pull/3063

@karpenter @issue-3063
Feature: A pod that must not be disrupted is not evicted

  @karpenter-3063-annotated-too-late
  Scenario: The pod is annotated while its eviction waits for a disruption budget
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: web}
      spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: web, labels: {app: web}}
      spec:
        containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then the pod "web" is Running within 5m
    When the scenario waits for 1m
    And "NodeClaim/$name" is deleted once "karpenter" has ever sent "create" of "nodeclaims"
    And "karpenter" has been refused "create" of "pods/eviction" "web"
    And "Pod/web" is annotated "karpenter.sh/do-not-disrupt=true"
    And the scenario waits for 2m
    And "PodDisruptionBudget/web" is deleted
    Then "karpenter" never sends "create" of "pods/eviction" "web" within 10m
